// What extensions may ask of the user: one interface in every mode, and the answers of a mode without a user.

/** Options of a dialog. It ends by itself after `timeout` milliseconds, or when the signal aborts. */
export interface DialogOptions {
  timeout?: number;
  signal?: AbortSignal;
}

export type NotifyType = "info" | "warning" | "error";
export type WidgetPlacement = "aboveEditor" | "belowEditor";

/** Everything a mode must bring to have a user. A dialog without an answer resolves with undefined. */
export interface UiTransport {
  select(title: string, options: string[], how: DialogOptions): Promise<string | undefined>;
  confirm(title: string, message: string, how: DialogOptions): Promise<boolean | undefined>;
  input(title: string, placeholder: string | undefined, how: DialogOptions): Promise<string | undefined>;
  editor(title: string, prefill: string | undefined, how: DialogOptions): Promise<string | undefined>;
  notify(message: string, type: NotifyType | undefined): void;
  setStatus(key: string, text: string | undefined): void;
  setWidget(key: string, lines: string[] | undefined, placement: WidgetPlacement | undefined): void;
  setTitle(title: string): void;
  setEditorText(text: string): void;
}

/** `ctx.ui`. What only a terminal can do is there and does nothing, or gives the empty value of its type. */
export interface ExtensionUI {
  select(title: string, options: string[], how?: DialogOptions): Promise<string | undefined>;
  confirm(title: string, message: string, how?: DialogOptions): Promise<boolean>;
  input(title: string, placeholder?: string, how?: DialogOptions): Promise<string | undefined>;
  editor(title: string, prefill?: string, how?: DialogOptions): Promise<string | undefined>;
  /** Terminal only: the factory is not called. */
  custom(factory?: unknown, options?: unknown): Promise<undefined>;
  notify(message: string, type?: NotifyType): void;
  setStatus(key: string, text: string | undefined): void;
  setWidget(key: string, content: string[] | unknown | undefined, options?: { placement?: WidgetPlacement }): void;
  setTitle(title: string): void;
  setEditorText(text: string): void;
  pasteToEditor(text: string): void;
  getEditorText(): string;
  /** Returns the function that ends the subscription. */
  onTerminalInput(handler?: unknown): () => void;
  setEditorComponent(factory?: unknown): void;
  getEditorComponent(): undefined;
  setWorkingMessage(message?: string): void;
  setWorkingIndicator(options?: unknown): void;
  setWorkingVisible(visible?: boolean): void;
  setHiddenThinkingLabel(label?: string): void;
  setFooter(factory?: unknown): void;
  setHeader(factory?: unknown): void;
  addAutocompleteProvider(factory?: unknown): void;
  setToolsExpanded(expanded?: boolean): void;
  getToolsExpanded(): boolean;
  readonly theme: unknown;
  getAllThemes(): unknown[];
  getTheme(name?: string): undefined;
  setTheme(theme?: unknown): { success: boolean; error?: string };
}

/** The UI of a mode: with a transport it reaches the user, without one dialogs are unanswered and the rest is silent. */
export function createUi(transport: UiTransport | undefined, options: { theme: () => unknown }): ExtensionUI {
  const nothing = () => {};
  return {
    select: async (title, choices, how = {}) => {
      if (!Array.isArray(choices) || !choices.every((choice) => typeof choice === "string"))
        throw new Error("Cannot ask: the options of a select are a list of texts");
      return transport?.select(title, choices, how);
    },
    confirm: async (title, message, how = {}) => (await transport?.confirm(title, message, how)) ?? false,
    input: async (title, placeholder, how = {}) => transport?.input(title, placeholder, how),
    editor: async (title, prefill, how = {}) => transport?.editor(title, prefill, how),
    custom: async () => undefined,
    notify: (message, type) => transport?.notify(message, type),
    setStatus: (key, text) => transport?.setStatus(key, text),
    setWidget(key, content, how) {
      // A component draws itself on a terminal; there is nothing to send.
      if (content === undefined || Array.isArray(content)) transport?.setWidget(key, content, how?.placement);
    },
    setTitle: (title) => transport?.setTitle(title),
    setEditorText: (text) => transport?.setEditorText(text),
    pasteToEditor: (text) => transport?.setEditorText(text),
    getEditorText: () => "",
    onTerminalInput: () => nothing,
    setEditorComponent: nothing,
    getEditorComponent: () => undefined,
    setWorkingMessage: nothing,
    setWorkingIndicator: nothing,
    setWorkingVisible: nothing,
    setHiddenThinkingLabel: nothing,
    setFooter: nothing,
    setHeader: nothing,
    addAutocompleteProvider: nothing,
    setToolsExpanded: nothing,
    getToolsExpanded: () => false,
    get theme() {
      return options.theme();
    },
    getAllThemes: () => [],
    getTheme: () => undefined,
    setTheme: () => ({ success: false, error: "Themes can only be switched on a terminal" }),
  };
}
