// The first words of the command line that are about packages.

/** Apart from the commands themselves, which a start without them need not load. */
export const packageCommands = ["install", "remove", "uninstall", "update", "list"] as const;
