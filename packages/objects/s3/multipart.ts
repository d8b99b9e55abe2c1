import { randomUUID } from 'node:crypto';
import { isLost, isMissing, TimeOut } from './failures.ts';
import { bodyOf, encode, isCode, type S3Request, type Requests } from './requests.ts';
import type { Limits } from './transport.ts';
import { element, escape, S3_NAMESPACE } from './xml.ts';

/** The limit of S3. */
export const MAX_PARTS = 10_000;
/** Metadata with the name of the upload that created an object. */
const UPLOAD_HEADER = 'x-amz-meta-upload';

/** An object that is sent in parts. It appears only when they are joined. */
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

  /** Must not be aborted: the id of the upload that the store has created would be lost. */
  static async begin(requests: Requests, key: string): Promise<Multipart> {
    const name = randomUUID();
    const headers = { [UPLOAD_HEADER]: name };
    const begun = await requests.ask({ method: 'POST', key, query: 'uploads', headers });
    const uploadId = element(begun.text, 'UploadId');
    if (uploadId === undefined || uploadId === '') throw new Error('the object store created an upload without an id');
    return new Multipart(requests, key, name, uploadId);
  }

  /** Sends or copies a part. Parts may be sent in any order and repeatedly. */
  async part(number: number, request: Pick<S3Request, 'body' | 'headers'>, options: Partial<Limits>): Promise<void> {
    const query = `partNumber=${number}&uploadId=${encode(this.#uploadId)}`;
    const sent = await this.#requests.ask({ ...request, method: 'PUT', key: this.#key, query }, options);
    refuseError(sent.text);
    // For a copied part the ETag is in the body.
    const etag = element(sent.text, 'ETag') ?? sent.headers.etag;
    if (etag === undefined) throw new Error('the object store accepted a part without an ETag');
    this.#etags.set(number, etag);
  }

  /** Joins the parts, in the order of their numbers. */
  async complete(): Promise<void> {
    const parts = [...this.#etags]
      .toSorted(([one], [other]) => one - other)
      .map(([number, etag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${escape(etag)}</ETag></Part>`);
    const body = bodyOf(`<CompleteMultipartUpload xmlns="${S3_NAMESPACE}">${parts.join('')}</CompleteMultipartUpload>`);
    const request: S3Request = {
      method: 'POST',
      key: this.#key,
      query: `uploadId=${encode(this.#uploadId)}`,
      headers: { 'content-type': 'application/xml' },
      body,
    };
    try {
      // An error after the store has begun to answer is in the body.
      refuseError((await this.#requests.ask(request, { idleMs: this.#requests.limits.workMs })).text);
    } catch (error) {
      // An attempt whose answer was lost may have joined them, and the next one finds no upload.
      const isUnknown = isCode(error, 'NoSuchUpload') || isLost(error) || error instanceof TimeOut;
      if (!isUnknown || !(await this.#isJoined())) throw error;
    }
  }

  /** Removes the parts. On failure the lifecycle rule of the bucket removes them later. */
  async abort(): Promise<void> {
    const query = `uploadId=${encode(this.#uploadId)}`;
    await this.#requests.askBriefly({ method: 'DELETE', key: this.#key, query }).catch(() => {});
  }

  async #isJoined(): Promise<boolean> {
    try {
      const found = await this.#requests.askBriefly({ method: 'HEAD', key: this.#key });
      return found.headers[UPLOAD_HEADER] === this.#name;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }
}

/** A store that has begun to answer can report an error only in the body. */
export function refuseError(text: string): void {
  if (!/<Error[\s>]/.test(text)) return;
  const code = element(text, 'Code') ?? 'InternalError';
  throw Object.assign(new Error(`the object store answered ${code}`), { code });
}
