// Waiting for something that may never come.

/**
 * True when `promise` settled within `limitMs`, false when it is still open. A rejection counts as settled; who wants its
 * reason awaits the promise too. The timer keeps the process alive while it is waited for, and is gone then: with nothing
 * else to do, Node would end in the middle of what comes after the wait.
 */
export async function inTime(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, limitMs, false);
  });
  const settled = () => true;
  const isInTime = await Promise.race([promise.then(settled, settled), late]);
  clearTimeout(timer);
  return isInTime;
}
