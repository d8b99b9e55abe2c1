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
export interface S3Limits {
  /** From the lookup of the name to an established connection. */
  readonly connectMs: number;
  /** How long the store may take to begin its answer, and be silent while it is read and while bytes are put. */
  readonly idleMs: number;
  /** How long a connection may be idle while the store copies an object or joins parts. */
  readonly workMs: number;
  /** A request with a short answer, all attempts together. */
  readonly totalMs: number;
  /** How long a start waits for a store that does not answer. */
  readonly startMs: number;
  /** Between two attempts to reach a store that did not answer at the start. */
  readonly retryMs: number;
  /** Size of each part, unless it takes larger ones for all to fit. S3 accepts smaller ones only as the last part. */
  readonly partBytes: number;
  /** A larger object is copied in parts of this size. S3 copies at most 5 GiB in one request. */
  readonly copyBytes: number;
}

export const S3_LIMITS: S3Limits = {
  connectMs: 5000,
  idleMs: 30_000,
  workMs: 120_000,
  totalMs: 15_000,
  startMs: 10_000,
  retryMs: 2000,
  partBytes: 5 * MiB,
  copyBytes: 1024 * MiB,
};
