/** The URLs of a comma list. A password may have a comma. */
export const nodesOf = (urls: string): string[] => urls.split(/,(?=rediss?:\/\/)/);
