/**
 * An event in the HTML standard's format of server-sent events. JSON escapes line ends, so an envelope is one
 * line.
 */
export const eventFrame = (id: string, type: string, envelope: string): string =>
  `id: ${id}\nevent: ${type}\ndata: ${envelope}\n\n`;

export const KEEPALIVE = ': keepalive\n\n';
export const CLOSING = ': closing\n\n';

/** The frame has no id, so a client that reconnects resumes after the last event that it has seen. */
export const gapFrame = (cursor: string): string => `event: gap\ndata: ${gapText(cursor)}\n\n`;

/** The text has the shape of an event, without the members that only events have. */
export const gapText = (cursor: string): string => JSON.stringify({ type: 'gap', data: { cursor } });
