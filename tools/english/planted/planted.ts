/** An answer of the server.
 * Not every answer is one. */
export const rule = {
  // That a row is missing is no error.
  refusal: `The request was made anew: ${1}.`,
};
