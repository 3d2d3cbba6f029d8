// The version of the product, put in by the build.

declare const PI_VERSION: string;
