import { unreadable } from '../faults.ts';
import type { Source } from '../recording.ts';
import { Window } from '../window.ts';
import { type Codec, codecOf, withoutSound } from './codec.ts';
import { Packets } from './packets.ts';
import type { Page, PageHeader } from './page.ts';
import { pages } from './pages.ts';

/** One stream of sound within a file. A file is a chain of links where recordings were put one behind the other. */
export interface Link {
  readonly serial: number;
  /** Serials of all streams that run side by side in this link. */
  readonly serials: ReadonlySet<number>;
  readonly codec: Codec;
}

/** The packets up to a page that tells the time. */
export interface Stretch {
  readonly link: Link;
  readonly packets: readonly Uint8Array[];
  /** How many samples each of the packets gives. */
  readonly samples: readonly number[];
  readonly granule: number;
  /** Where the page begins that tells the time. */
  readonly offset: number;
  /** The link ends here. */
  readonly last: boolean;
}

/** Some minutes of sound, or several hours of silence; pages tell the time at least every second. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;
const MAX_PENDING_PACKETS = 65_536;
/** Streams side by side. Video has two or three. */
const MAX_STREAMS = 64;
const RANGE_BYTES = 8_192;

/** The second packet holds the comments, whatever the codec. */
const COMMENTS = 1;

/** The stretches of all links in order, through the whole file. */
export async function* stretches(source: Source): AsyncGenerator<Stretch> {
  const window = new Window(source);
  const links = new Links();
  try {
    for await (const page of pages(window, links.wants)) {
      const stretch = links.take(page);
      if (stretch !== null) yield stretch;
    }
    const last = links.end();
    if (last !== null) yield last;
  } finally {
    await window.close();
  }
}

/** The first stretch, `last` as far as is known; reads no more of the file than that takes. Null when there is none. */
export async function firstStretch(source: Source): Promise<Stretch | null> {
  const window = new Window(source, { rangeBytes: RANGE_BYTES });
  const links = new Links();
  for await (const page of pages(window, links.wants)) {
    const stretch = links.take(page) ?? links.held;
    if (stretch !== null) return stretch;
  }
  return links.end();
}

/** Sorts pages into the stretches of the first supported stream of sound in each link. */
class Links {
  /** First packets of the streams that begin together, by serial. */
  #beginnings = new Map<number, Uint8Array>();
  #link: Link | null = null;
  #packets = new Packets();
  #inHeaders = true;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** Held back until it is known whether it is the link's last. */
  #held: Omit<Stretch, 'last'> | null = null;

  /** False for pages whose body does not matter. */
  readonly wants = (header: PageHeader): boolean => {
    if (header.first) return true;
    if (this.#link !== null && header.serial !== this.#link.serial) return false;
    return !(this.#packets.indifferent && header.lacing.length > 0 && header.lacing.every((length) => length === 255));
  };

  /** The stretch that is complete by this page's coming. */
  take(page: Page): Stretch | null {
    if (page.first) return this.#begin(page);
    const link = this.#link ?? this.#choose();
    if (page.serial !== link.serial) return null;
    const packets = this.#packets.take(page);
    while (this.#inHeaders && packets.length > 0) {
      this.#inHeaders = link.codec.takeHeader(packets[0] ?? new Uint8Array(0));
      if (this.#inHeaders) packets.shift();
    }
    for (const packet of packets) {
      // Some writers end a stream with an empty packet.
      if (packet.length === 0) continue;
      this.#pending.push(packet);
      this.#pendingBytes += packet.length;
    }
    if (this.#pendingBytes > MAX_PENDING_BYTES || this.#pending.length > MAX_PENDING_PACKETS) {
      throw unreadable('The Ogg is broken: its pages do not tell the time.');
    }
    if (page.granule === null || this.#pending.length === 0) return null;
    return this.#hold({ link, granule: page.granule, offset: page.offset });
  }

  /** The stretch that is complete but for knowing whether it is its link's last. */
  get held(): Stretch | null {
    return this.#held === null ? null : { ...this.#held, last: false };
  }

  /** The last stretch of all, if there is one. */
  end(): Stretch | null {
    if (this.#link === null && this.#beginnings.size > 0) this.#choose();
    return this.#release(true);
  }

  #begin(page: Page): Stretch | null {
    let ended: Stretch | null = null;
    if (this.#link !== null) {
      ended = this.#release(true);
      this.#link = null;
      this.#beginnings.clear();
    }
    if (this.#beginnings.size >= MAX_STREAMS) throw unreadable('The Ogg has too many streams side by side.');
    const [packet] = new Packets().take(page);
    if (packet !== undefined && !this.#beginnings.has(page.serial)) this.#beginnings.set(page.serial, packet);
    return ended;
  }

  #choose(): Link {
    for (const [serial, packet] of this.#beginnings) {
      const codec = codecOf(packet);
      if (codec === null) continue;
      this.#link = { serial, serials: new Set(this.#beginnings.keys()), codec };
      // The first packet is behind us: it was on the page that began the stream.
      this.#packets = new Packets((index) => index + 1 === COMMENTS);
      this.#inHeaders = true;
      this.#pending = [];
      this.#pendingBytes = 0;
      return this.#link;
    }
    throw withoutSound([...this.#beginnings.values()]);
  }

  #hold(page: Pick<Stretch, 'link' | 'granule' | 'offset'>): Stretch | null {
    if (!Number.isSafeInteger(page.granule) || page.granule < 0) throw unreadable('The Ogg tells an impossible time.');
    const before = this.#release(false);
    const packets = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#held = { ...page, packets, samples: packets.map((packet) => page.link.codec.samplesOf(packet)) };
    return before;
  }

  #release(last: boolean): Stretch | null {
    const held = this.#held;
    this.#held = null;
    return held === null ? null : { ...held, last };
  }
}
