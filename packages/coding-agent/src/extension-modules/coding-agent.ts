// What extensions import as the host's module, apart from the session itself.

import { defaultTheme } from "./theme.js";

export { SettingsManager } from "../resources/settings-manager.js";
export { SessionManager } from "../sessions/session-manager.js";
export { withFileMutationQueue } from "../tools/file-queue.js";
export {
  defaultMaxBytes as DEFAULT_MAX_BYTES,
  defaultMaxLines as DEFAULT_MAX_LINES,
  formatSize,
  truncateHead,
  truncateLine,
  truncateTail,
} from "../tools/truncate.js";
export { getLanguageFromPath, highlightCode, renderDiff } from "./code-view.js";
export {
  getMarkdownTheme,
  getSelectListTheme,
  getSettingsListTheme,
  keyHint,
  keyText,
  rawKeyHint,
} from "./component-themes.js";
export {
  calculateContextTokens,
  compact,
  DEFAULT_COMPACTION_SETTINGS,
  estimateTokens,
  findCutPoint,
  findTurnStartIndex,
  getLastAssistantUsage,
  shouldCompact,
} from "./host/compaction.js";
export {
  buildContextEntries,
  buildSessionContext,
  CURRENT_SESSION_VERSION,
  convertToLlm,
  getLatestCompactionEntry,
  parseSessionEntries,
  serializeConversation,
  sessionEntryToContextMessages,
} from "./host/conversation.js";
export * from "./host/dialogs.js";
export {
  generateDiffString,
  generateUnifiedPatch,
  parseFrontmatter,
  parseSkillBlock,
  stripFrontmatter,
} from "./host/documents.js";
export * from "./host/events.js";
export { BorderedLoader, CustomEditor, DynamicBorder } from "./host/frames.js";
export * from "./host/message-views.js";
export {
  CONFIG_DIR_NAME,
  copyToClipboard,
  getAgentDir,
  getDocsPath,
  getExamplesPath,
  getPackageDir,
  getReadmePath,
  getShellConfig,
  readStoredCredential,
  resizeImage,
  VERSION,
} from "./host/system.js";
export * from "./host/tools.js";
export { Theme } from "./theme.js";

/** Makes the theme; it is made when it is first used in any case. */
export function initTheme(_name?: string): void {
  defaultTheme();
}
