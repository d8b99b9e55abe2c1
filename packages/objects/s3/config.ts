/** An S3-compatible store, and how to reach it. */
export interface S3Config {
  readonly store: 's3';
  /** The URL for services: scheme, host and port, no path. */
  readonly endpoint: string;
  /** The URL for clients, in presigned URLs. */
  readonly publicEndpoint: string;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
  /** The bucket is in the path; otherwise in the host name. */
  readonly pathStyle: boolean;
  /** Creates a missing bucket. */
  readonly createBucket: boolean;
  /** Origins whose pages may use presigned URLs; `*` for any. Absent: the CORS rules of the bucket are left unchanged. */
  readonly corsOrigins?: readonly string[] | undefined;
}

const MiB = 1024 * 1024;

/** Time and size limits. Only tests use other values. */
export const S3_LIMITS = {
  /** From the lookup of the name to an established connection. */
  connectMs: 5000,
  /** How long the store may take to begin its answer, and be silent while it is read and while bytes are put. */
  idleMs: 30_000,
  /** How long a connection may be idle while the store copies an object or joins parts. */
  workMs: 120_000,
  /** A request with a short answer, all attempts together. */
  totalMs: 15_000,
  /** How long a start waits for a store that does not answer. */
  startMs: 10_000,
  /** Between two attempts to reach a store that did not answer at the start. */
  retryMs: 2000,
  /** Size of each part, unless it takes larger ones for all to fit. S3 accepts smaller ones only as the last part. */
  partBytes: 5 * MiB,
  /** A larger object is copied in parts of this size. S3 copies at most 5 GiB in one request. */
  copyBytes: 1024 * MiB,
};
export type S3Limits = Readonly<typeof S3_LIMITS>;
