// Dialogs of the interactive program. Without a terminal nobody opens them; they can be made, extended and drawn empty.

import { Container } from "../tui/component.js";

/** A dialog that shows nothing and takes every key. */
class Dialog extends Container {
  focused = false;

  constructor(..._parts: unknown[]) {
    super();
  }

  handleInput(_data: string): void {}
  dispose(): void {}
}

export class ModelSelectorComponent extends Dialog {}
export class SessionSelectorComponent extends Dialog {}
export class TreeSelectorComponent extends Dialog {}
export class ThemeSelectorComponent extends Dialog {}
export class ThinkingSelectorComponent extends Dialog {}
export class SettingsSelectorComponent extends Dialog {}
export class ShowImagesSelectorComponent extends Dialog {}
export class UserMessageSelectorComponent extends Dialog {}
export class OAuthSelectorComponent extends Dialog {}
export class LoginDialogComponent extends Dialog {}
export class ExtensionSelectorComponent extends Dialog {}
export class ExtensionInputComponent extends Dialog {}
export class ExtensionEditorComponent extends Dialog {}
export class FooterComponent extends Dialog {}
