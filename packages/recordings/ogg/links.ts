import { unreadable } from '../faults.ts';
import { BufferedReader } from '../reading/buffered-reader.ts';
import type { Source } from '../recording.ts';
import { identifyCodec, unsupportedStreams } from './codecs/identify-codec.ts';
import type { PacketCodec } from './codecs/packet-codec.ts';
import { type Page, type PageHeader, pages } from './page.ts';

/** One audio stream in the file. A file of concatenated recordings is a chain of several links. */
export interface Link {
  readonly serial: number;
  /** Serial numbers of all parallel streams in this link. */
  readonly serials: ReadonlySet<number>;
  readonly codec: PacketCodec;
}

/** The packets up to and including a page with a granule position. */
export interface PacketGroup {
  readonly link: Link;
  readonly packets: readonly Uint8Array[];
  /** The number of samples of each packet. */
  readonly samples: readonly number[];
  readonly granule: number;
  /** Offset of the page with the granule position. */
  readonly offset: number;
  /** Whether this is the last group of its link. */
  readonly last: boolean;
}

/** Minutes of audio or hours of silence. Encoders write a granule position at least every second. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;
const MAX_PENDING_PACKETS = 65_536;
/** Parallel streams. Video has two or three. */
const MAX_STREAMS = 64;
const RANGE_BYTES = 8_192;

/** The packet groups of all links in order. Reads the whole file. */
export async function* packetGroups(source: Source): AsyncGenerator<PacketGroup> {
  const reader = new BufferedReader(source);
  const links = new Links();
  try {
    for await (const page of pages(reader, links.wants)) {
      const group = links.take(page);
      if (group !== null) yield group;
    }
    const last = links.end();
    if (last !== null) yield last;
  } finally {
    await reader.close();
  }
}

/** The first packet group; null when there is none. Reads no further, so `last` may be false for the only group. */
export async function firstPacketGroup(source: Source): Promise<PacketGroup | null> {
  const reader = new BufferedReader(source, { rangeBytes: RANGE_BYTES });
  const links = new Links();
  for await (const page of pages(reader, links.wants)) {
    const group = links.take(page) ?? links.held;
    if (group !== null) return group;
  }
  return links.end();
}

/** Collects pages into the packet groups of the first supported audio stream of each link. */
class Links {
  /** The first packets of the parallel streams, by serial number. */
  #beginnings = new Map<number, Uint8Array>();
  #link: Link | null = null;
  #packets = new Packets();
  #inHeaders = true;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** Held back until it is known whether it is the last group of the link. */
  #held: Omit<PacketGroup, 'last'> | null = null;

  /** False for pages whose body is not needed. */
  readonly wants = (header: PageHeader): boolean => {
    if (header.first) return true;
    if (this.#link !== null && header.serial !== this.#link.serial) return false;
    return !(
      this.#packets.skipsContinuation &&
      header.lacing.length > 0 &&
      header.lacing.every((length) => length === 255)
    );
  };

  /** Returns the group that this page completes, if any. */
  take(page: Page): PacketGroup | null {
    if (page.first) return this.#begin(page);
    const link = this.#link ?? this.#choose();
    if (page.serial !== link.serial) return null;
    const packets = this.#packets.take(page);
    while (this.#inHeaders && packets.length > 0) {
      this.#inHeaders = link.codec.takeHeader(packets[0] ?? new Uint8Array(0));
      if (this.#inHeaders) packets.shift();
    }
    for (const packet of packets) {
      // Some encoders end a stream with an empty packet.
      if (packet.length === 0) continue;
      this.#pending.push(packet);
      this.#pendingBytes += packet.length;
    }
    if (this.#pendingBytes > MAX_PENDING_BYTES || this.#pending.length > MAX_PENDING_PACKETS) {
      throw unreadable('The Ogg file is damaged: its pages have no granule positions.');
    }
    if (page.granule === null || this.#pending.length === 0) return null;
    return this.#hold({ link, granule: page.granule, offset: page.offset });
  }

  /** The complete group of which it is not known yet whether it is the last of its link. */
  get held(): PacketGroup | null {
    return this.#held === null ? null : { ...this.#held, last: false };
  }

  /** The last group of the file, if there is one. */
  end(): PacketGroup | null {
    if (this.#link === null && this.#beginnings.size > 0) this.#choose();
    return this.#release(true);
  }

  #begin(page: Page): PacketGroup | null {
    let ended: PacketGroup | null = null;
    if (this.#link !== null) {
      ended = this.#release(true);
      this.#link = null;
      this.#beginnings.clear();
    }
    if (this.#beginnings.size >= MAX_STREAMS) throw unreadable('The Ogg file has too many parallel streams.');
    const [packet] = new Packets().take(page);
    if (packet !== undefined && !this.#beginnings.has(page.serial)) this.#beginnings.set(page.serial, packet);
    return ended;
  }

  #choose(): Link {
    for (const [serial, packet] of this.#beginnings) {
      const codec = identifyCodec(packet);
      if (codec === null) continue;
      this.#link = { serial, serials: new Set(this.#beginnings.keys()), codec };
      // The first packet was on the page that began the stream. The next one of every codec holds the comments.
      this.#packets = new Packets({ isFirstUnwanted: true });
      this.#inHeaders = true;
      this.#pending = [];
      this.#pendingBytes = 0;
      return this.#link;
    }
    throw unsupportedStreams([...this.#beginnings.values()]);
  }

  #hold(page: Pick<PacketGroup, 'link' | 'granule' | 'offset'>): PacketGroup | null {
    if (!Number.isSafeInteger(page.granule) || page.granule < 0)
      throw unreadable('The Ogg file has an impossible granule position.');
    const before = this.#release(false);
    const packets = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#held = { ...page, packets, samples: packets.map((packet) => page.link.codec.samplesOf(packet)) };
    return before;
  }

  #release(last: boolean): PacketGroup | null {
    const held = this.#held;
    this.#held = null;
    return held === null ? null : { ...held, last };
  }
}

/** Audio packets are smaller. Comments with pictures may be larger, but they are not kept. */
const MAX_PACKET_BYTES = 4 * 1024 * 1024;

/** Assembles the packets of one stream from its pages. */
class Packets {
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** Whether the content of the packet in progress is discarded. */
  #unwanted: boolean;
  /** Whether the beginning of the packet in progress is missing. */
  #headless = false;

  /** A first packet that is unwanted is returned empty. */
  constructor({ isFirstUnwanted = false } = {}) {
    this.#unwanted = isFirstUnwanted;
  }

  /** Whether a page that only continues the packet in progress can be skipped. */
  get skipsContinuation(): boolean {
    return this.#unwanted;
  }

  /** The packets that end on this page. */
  take({ lacing, body, continued }: Page): Uint8Array[] {
    // A page is missing, or the recording begins in the middle of a packet: the incomplete packet is dropped.
    if (!continued && this.#length > 0) this.#reset();
    if (continued && this.#length === 0 && !this.#unwanted) this.#headless = true;
    const packets: Uint8Array[] = [];
    let from = 0;
    let to = 0;
    for (const length of lacing) {
      to += length;
      if (length === 255) continue;
      this.#add(body.subarray(from, to));
      from = to;
      if (!this.#headless) packets.push(this.#assemble());
      this.#reset();
    }
    if (to > from) this.#add(body.subarray(from, to));
    return packets;
  }

  #add(piece: Uint8Array): void {
    if (this.#unwanted || this.#headless) return;
    this.#length += piece.length;
    if (this.#length > MAX_PACKET_BYTES) throw unreadable('The Ogg file is damaged: a packet is too large.');
    // A copy, because a view would keep all of the bytes that were read with it; `slice` of a Buffer is a view.
    this.#pieces.push(new Uint8Array(piece));
  }

  #assemble(): Uint8Array {
    this.#unwanted = false;
    return Buffer.concat(this.#pieces);
  }

  #reset(): void {
    this.#pieces = [];
    this.#length = 0;
    this.#headless = false;
  }
}
