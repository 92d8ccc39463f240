/** The name of a connector or a tool without the differences between letters, digits and marks that look alike. */
export const looksOf = (name: string): string =>
  name.toLowerCase().replaceAll(/[-.]/g, '_').replaceAll('0', 'o').replaceAll(/[1i]/g, 'l');
