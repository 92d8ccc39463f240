const SLOTS = 16_384;

/** CRC16 in its XMODEM form: polynomial 0x1021, begun with 0. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/**
 * The hash slot of a key in a Redis Cluster: that of its hash tag, if it has one. The driver keeps the same
 * function to itself.
 * @see https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags
 */
export function slotOf(key: string): number {
  const hashed = /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key; // `{}` at the first brace hides any later tag
  let crc = 0;
  for (const byte of Buffer.from(hashed)) crc = ((crc << 8) ^ Number(TABLE[(crc >> 8) ^ byte])) & 0xffff;
  return crc % SLOTS;
}
