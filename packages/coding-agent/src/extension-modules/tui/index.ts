// What extensions import as the terminal-UI module.

export {
  backgroundAnsi,
  colorToHex,
  colorToRgb,
  foregroundAnsi,
  getTerminalColorMode,
  indexedColor,
  mixColors,
  parseColor,
  rgbColor,
} from "../colour.js";
export { getMarkdownTheme } from "../component-themes.js";
export { Container, CURSOR_MARKER, isFocusable, renderFakeCursor, Spacer } from "./component.js";
export { Editor } from "./editor.js";
export { fuzzyFilter, fuzzyMatch } from "./fuzzy.js";
export {
  allocateImageId,
  calculateImageRows,
  deleteAllKittyImages,
  deleteKittyImage,
  detectCapabilities,
  getCapabilities,
  getCellDimensions,
  getImageDimensions,
  hyperlink,
  Image,
  imageFallback,
  renderImage,
  resetCapabilitiesCache,
  setCapabilities,
  setCellDimensions,
} from "./image.js";
export { Input } from "./input.js";
export { Key } from "./key-names.js";
export {
  getEditorKeybindings,
  getKeybindings,
  KeybindingsManager,
  setKeybindings,
  TUI_KEYBINDINGS,
} from "./keybindings.js";
export { decodeKittyPrintable, isKeyRelease, isKeyRepeat, matchesKey, parseKey } from "./keys.js";
export { Box, HStack, MouseRegion, ScrollView, VStack } from "./layout.js";
export { CancellableLoader, Loader } from "./loader.js";
export { Markdown } from "./markdown.js";
export { ProcessTerminal, TUI, TUI as TuiAltScreen, TUI as TuiMainScreen } from "./screen.js";
export { SelectList, SettingsList } from "./selection.js";
export { Text, TruncatedText } from "./text.js";
export {
  replaceControlCharacters,
  sliceByColumn,
  stripTerminalSequences,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "./width.js";
