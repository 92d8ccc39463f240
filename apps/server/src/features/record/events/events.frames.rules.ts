/**
 * What is written to a stream, by the HTML standard's format of server-sent events. An envelope has no line end in
 * it, since JSON escapes those, so it is one line.
 */
export const eventFrame = (id: string, type: string, envelope: string): string =>
  `id: ${id}\nevent: ${type}\ndata: ${envelope}\n\n`;

export const KEEPALIVE = ': keepalive\n\n';
export const CLOSING = ': closing\n\n';

/** Without an id, so that a client which connects again is told from the last event that it has seen. */
export const gapFrame = (cursor: string): string => `event: gap\ndata: ${gapText(cursor)}\n\n`;

/** In the shape of an event, less what only an event has. */
export const gapText = (cursor: string): string => JSON.stringify({ type: 'gap', data: { cursor } });
