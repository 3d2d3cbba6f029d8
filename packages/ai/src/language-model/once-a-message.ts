// Converts each message of a prompt once: a long history then costs a call only what is new in it.

/**
 * The conversion, with what it gave kept as long as its message lives. The messages of a prompt do not change; what is
 * given is shared, so whoever edits it copies it first.
 */
export function onceAMessage<M extends object, Form>(convert: (message: M) => Form): (message: M) => Form {
  const kept = new WeakMap<M, { form: Form }>();
  return (message) => {
    let known = kept.get(message);
    if (!known) {
      known = { form: convert(message) };
      kept.set(message, known);
    }
    return known.form;
  };
}
