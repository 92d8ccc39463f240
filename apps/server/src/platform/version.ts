/** The version of this release. The API's path prefix has its own. */
export const VERSION = '0.6.0';
