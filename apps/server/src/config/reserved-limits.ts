const namesIn = (text: string) => text.split(/\s+/).filter(Boolean);

/**
 * Limits of features that this release does not have, by the ends of their names. The service checks their values and
 * uses none of them, so that one configuration serves several releases. A name leaves this list when its feature
 * declares the limit.
 */
export const reservedRates = namesIn(`
  OAUTH_REGISTER TRANSPARENCY RECEIPT`);

export const reservedResources = namesIn('');
