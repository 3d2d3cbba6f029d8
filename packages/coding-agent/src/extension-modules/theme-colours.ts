// The colours of the one theme there is: a role in the interface → red, green and blue.

/** A colour as a number, `0xrrggbb`; null is the terminal's own. */
export type Colour = number | null;

/** Roles of text. The names are those themes are written with. */
export const foregrounds = {
  accent: 0x7aa2c8,
  border: 0x5f7f9f,
  borderAccent: 0x7aa2c8,
  borderMuted: 0x50565e,
  text: null,
  muted: 0x8a9099,
  dim: 0x6b7078,
  success: 0x8fbc7f,
  error: 0xd77a7a,
  warning: 0xd9b26a,
  searchMatchText: null,
  scrollbarTrack: 0x8a9099,
  scrollbarThumb: 0xc8ccd2,
  userMessageText: null,
  customMessageText: null,
  customMessageLabel: 0xa58fd0,
  thinkingText: 0x8a9099,
  toolTitle: null,
  toolOutput: 0x9aa0a8,
  mdHeading: 0xd9b26a,
  mdLink: 0x6fa8dc,
  mdLinkUrl: 0x6b7078,
  mdCode: 0x86b5b0,
  mdCodeBlock: 0x9fc08f,
  mdCodeBlockBorder: 0x6b7078,
  mdQuote: 0x9aa0a8,
  mdQuoteBorder: 0x6b7078,
  mdHr: 0x6b7078,
  mdListBullet: 0x7aa2c8,
  toolDiffAdded: 0x8fbc7f,
  toolDiffRemoved: 0xd77a7a,
  toolDiffContext: 0x8a9099,
  syntaxComment: 0x7f8790,
  syntaxKeyword: 0x6fa8dc,
  syntaxFunction: 0xd9c27a,
  syntaxVariable: 0x9cc3e6,
  syntaxString: 0xcf9b78,
  syntaxNumber: 0xb3c99a,
  syntaxType: 0x6fc2a8,
  syntaxOperator: 0xc8ccd2,
  syntaxPunctuation: 0xa8adb5,
  thinkingOff: 0x50565e,
  thinkingMinimal: 0x6b7a88,
  thinkingLow: 0x5f8fb8,
  thinkingMedium: 0x6f9fd0,
  thinkingHigh: 0x9f8fd0,
  thinkingXhigh: 0xbf8fc8,
  thinkingMax: 0xd98fb8,
  bashMode: 0x8fbc7f,
} as const satisfies Record<string, Colour>;

/** Roles of what lies behind text. */
export const backgrounds = {
  selectedBg: 0x343a45,
  searchMatchBg: 0x4a4530,
  userMessageBg: 0x2f343d,
  customMessageBg: 0x302c3a,
  toolPendingBg: 0x272a30,
  toolSuccessBg: 0x26302a,
  toolErrorBg: 0x382a2a,
} as const satisfies Record<string, Colour>;

export type ThemeColor = keyof typeof foregrounds;
export type ThemeBg = keyof typeof backgrounds;
