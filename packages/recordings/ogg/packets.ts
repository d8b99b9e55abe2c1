import { unreadable } from '../faults.ts';
import type { Page } from './page.ts';

/** Audio packets are smaller. Comments with pictures may be larger, but they are not kept. */
const MAX_PACKET_BYTES = 4 * 1024 * 1024;

/** Assembles the packets of one stream from its pages. */
export class Packets {
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** Whether the content of the packet in progress is discarded. */
  #unwanted: boolean;
  readonly #isUnwanted: (index: number) => boolean;
  #index = 0;
  /** Whether the beginning of the packet in progress is missing. */
  #headless = false;

  /** Packets whose index `isUnwanted` accepts are returned empty. */
  constructor(isUnwanted: (index: number) => boolean = () => false) {
    this.#isUnwanted = isUnwanted;
    this.#unwanted = isUnwanted(0);
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
    // A copy, because the buffer of the page is reused.
    this.#pieces.push(piece.slice());
  }

  #assemble(): Uint8Array {
    this.#index++;
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only;
    const packet = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      packet.set(piece, at);
      at += piece.length;
    }
    return packet;
  }

  #reset(): void {
    this.#pieces = [];
    this.#length = 0;
    this.#headless = false;
    this.#unwanted = this.#isUnwanted(this.#index);
  }
}
