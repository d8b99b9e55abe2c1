const CRC8 = tableOf(8, 0x07);
const CRC16 = tableOf(16, 0x8005);

/** The checksum of a frame header. */
export function crc8(bytes: Uint8Array, start: number, end: number): number {
  let crc = 0;
  for (let at = start; at < end; at++) crc = CRC8[crc ^ (bytes[at] ?? 0)] ?? 0;
  return crc;
}

/** The checksum of a complete frame. */
export function crc16(bytes: Uint8Array, start: number, end: number): number {
  let crc = 0;
  for (let at = start; at < end; at++) crc = ((crc << 8) & 0xffff) ^ (CRC16[(crc >> 8) ^ (bytes[at] ?? 0)] ?? 0);
  return crc;
}

function tableOf(width: 8 | 16, polynomial: number): Uint16Array {
  const top = 1 << (width - 1);
  const mask = (1 << width) - 1;
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (width - 8);
    for (let bit = 0; bit < 8; bit++) crc = ((crc & top) !== 0 ? (crc << 1) ^ polynomial : crc << 1) & mask;
    return crc;
  });
}
