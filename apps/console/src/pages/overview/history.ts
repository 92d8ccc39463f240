export const DAYS = 30;

/** The numbers of today and the chart come from one call, because equal parameters are one query. */
export const HISTORY = { params: { query: { days: String(DAYS) } } } as const;
