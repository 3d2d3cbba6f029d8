// The module that the build makes of page/: script and style as they are inlined.

declare module "pi:export-page" {
  export const script: string;
  export const style: string;
}
