// What the tools do to files and processes, for extensions that do it somewhere else: over SSH, in a container.

/** Absolute paths. `access` rejects when the file cannot be read. */
export interface ReadOperations {
  readFile(path: string): Promise<Buffer>;
  access(path: string): Promise<void>;
}

export interface WriteOperations {
  writeFile(path: string, content: string): Promise<void>;
  /** Makes a folder with those above it; nothing happens when it is there. */
  mkdir(folder: string): Promise<void>;
}

export interface EditOperations {
  readFile(path: string): Promise<Buffer>;
  writeFile(path: string, content: string): Promise<void>;
  access(path: string): Promise<void>;
}

export interface LsOperations {
  exists(path: string): Promise<boolean> | boolean;
  stat(path: string): Promise<{ isDirectory(): boolean }> | { isDirectory(): boolean };
  /** Names, without a path. */
  readdir(path: string): Promise<string[]> | string[];
}

export interface FindOperations {
  exists(path: string): Promise<boolean> | boolean;
  /** Paths of at most `limit` files, absolute or relative to the folder. */
  glob(pattern: string, folder: string, options: { ignore: string[]; limit: number }): Promise<string[]> | string[];
}

/** The search itself is always done here. */
export interface GrepOperations {
  isDirectory(path: string): Promise<boolean> | boolean;
}

/** `timeout` is in seconds. `exec` gives the output to `onData` as it comes, and rejects when it was stopped. */
export interface BashOperations {
  exec(
    command: string,
    cwd: string,
    options: {
      onData: (data: Buffer | string) => void;
      signal?: AbortSignal | undefined;
      timeout?: number | undefined;
      env?: Record<string, string | undefined>;
    },
  ): Promise<{ exitCode: number | null }>;
}

/** A command before it runs; what comes back is what runs. */
export interface BashSpawn {
  command: string;
  cwd: string;
  env: Record<string, string | undefined>;
}

export type BashSpawnHook = (spawn: BashSpawn) => BashSpawn;
