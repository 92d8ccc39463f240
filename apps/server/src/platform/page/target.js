/** A decision or a sign-in may lead to these kinds of address. The service enforces the same rule. */
const SAFE_TARGET =
  /^(?:https:|[a-z][a-z0-9+-]*\.[a-z0-9.+-]*:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?[/?]|(?!(?:https?|wss?|ftp|file|blob|data|javascript|vbscript|view-source|intent):)[a-z][a-z0-9+-]*:\/\/[a-z0-9])/i;

/** @param {string} address */
export const isSafeTarget = (address) => SAFE_TARGET.test(address);
