/** An S3-compatible store, and how to reach it. */
export interface S3Config {
  readonly store: 's3';
  /** How services reach it: scheme, host and port, no path. */
  readonly endpoint: string;
  /** What signed URLs name: how clients reach the same store. */
  readonly publicEndpoint: string;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
  /** The bucket in the path; otherwise before the host name. */
  readonly pathStyle: boolean;
  /** Makes the bucket when it is not there. */
  readonly createBucket: boolean;
  /** Whose pages may use signed URLs; `*`: any. Absent: what the bucket says of it is left as it is. */
  readonly corsOrigins?: readonly string[] | undefined;
}

const MiB = 1024 * 1024;

/** How long the store is waited for and how much is sent at once. Only tests have reason to choose other figures. */
export interface S3Limits {
  /** From the look-up of the name to a connection on which something can be said. */
  readonly connectMs: number;
  /** How long nothing may move on a connection while the store has the word. */
  readonly idleMs: number;
  /** The same where the store works before it answers: when it copies an object or joins parts. */
  readonly workMs: number;
  /** A question with a short answer, all tries together. */
  readonly wholeMs: number;
  /** How long a start waits for a store that does not answer. */
  readonly startMs: number;
  /** Between two tries to reach a store that was away at the start. */
  readonly againMs: number;
  /** Of the first thousand parts; S3 takes no less, save for the last. */
  readonly partBytes: number;
  /** Parts that have been gathered and are on their way while the next are gathered, of all puts together. */
  readonly aheadBytes: number;
  /** What is copied in one request; above, it is copied in parts of this size. S3 copies no more than 5 GiB at once. */
  readonly copyBytes: number;
}

export const S3_LIMITS: S3Limits = {
  connectMs: 5000,
  idleMs: 30_000,
  workMs: 120_000,
  wholeMs: 15_000,
  startMs: 10_000,
  againMs: 2000,
  partBytes: 5 * MiB,
  aheadBytes: 15 * MiB,
  copyBytes: 1024 * MiB,
};
