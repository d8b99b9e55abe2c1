import { randomUUID } from 'node:crypto';
import { isLost, isMissing, TimeOut } from './failures.ts';
import { bodyOf, encode, isCode, type Question, type Requests } from './requests.ts';
import type { Bounds } from './transport.ts';
import { element, escape, S3_NAMESPACE } from './xml.ts';

/** S3 takes no more parts than these. */
export const MAX_PARTS = 10_000;
/** Names the upload that an object came from. */
const UPLOAD_HEADER = 'x-amz-meta-upload';

/** An object that is sent in parts and appears when they are joined, or never. */
export class Multipart {
  readonly #requests: Requests;
  readonly #key: string;
  readonly #name: string;
  readonly #uploadId: string;
  readonly #etags = new Map<number, string>();

  private constructor(requests: Requests, key: string, name: string, uploadId: string) {
    this.#requests = requests;
    this.#key = key;
    this.#name = name;
    this.#uploadId = uploadId;
  }

  /** Not to be broken off: nobody would know the upload that the store has begun by then. */
  static async begin(requests: Requests, key: string): Promise<Multipart> {
    const name = randomUUID();
    const headers = { [UPLOAD_HEADER]: name };
    const begun = await requests.ask({ method: 'POST', key, query: 'uploads', headers });
    const uploadId = element(begun.text, 'UploadId');
    if (uploadId === undefined || uploadId === '')
      throw new Error('the object store began an upload without naming it');
    return new Multipart(requests, key, name, uploadId);
  }

  /** Sends a part, or has it copied; parts may come in any order, and again. */
  async part(number: number, question: Pick<Question, 'body' | 'headers'>, given: Partial<Bounds>): Promise<void> {
    const query = `partNumber=${number}&uploadId=${encode(this.#uploadId)}`;
    const sent = await this.#requests.ask({ ...question, method: 'PUT', key: this.#key, query }, given);
    refuseError(sent.text);
    // A part that was copied is named in the body.
    const etag = element(sent.text, 'ETag') ?? sent.headers.etag;
    if (etag === undefined) throw new Error('the object store took a part without naming it');
    this.#etags.set(number, etag);
  }

  /** Joins the parts, in the order of their numbers. */
  async complete(): Promise<void> {
    const parts = [...this.#etags]
      .toSorted(([one], [other]) => one - other)
      .map(([number, etag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${escape(etag)}</ETag></Part>`);
    const body = bodyOf(`<CompleteMultipartUpload xmlns="${S3_NAMESPACE}">${parts.join('')}</CompleteMultipartUpload>`);
    const question: Question = {
      method: 'POST',
      key: this.#key,
      query: `uploadId=${encode(this.#uploadId)}`,
      headers: { 'content-type': 'application/xml' },
      body,
    };
    try {
      // What goes wrong after the store has begun to answer stands in the answer.
      refuseError((await this.#requests.ask(question, { idleMs: this.#requests.limits.workMs })).text);
    } catch (error) {
      // A try whose answer was lost may have joined them, and the next one finds no upload.
      const isUnknown = isCode(error, 'NoSuchUpload') || isLost(error) || error instanceof TimeOut;
      if (!isUnknown || !(await this.#isThere())) throw error;
    }
  }

  /** Removes the parts. Those that cannot be removed now are left to the rule of the bucket. */
  async abort(): Promise<void> {
    const query = `uploadId=${encode(this.#uploadId)}`;
    await this.#requests.askBriefly({ method: 'DELETE', key: this.#key, query }).catch(() => {});
  }

  async #isThere(): Promise<boolean> {
    try {
      const found = await this.#requests.askBriefly({ method: 'HEAD', key: this.#key });
      return found.headers[UPLOAD_HEADER] === this.#name;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }
}

/** A store that has begun to answer can say only in the answer that it failed. */
export function refuseError(text: string): void {
  if (!/<Error[\s>]/.test(text)) return;
  const code = element(text, 'Code') ?? 'InternalError';
  throw Object.assign(new Error(`the object store answered ${code}`), { code });
}
