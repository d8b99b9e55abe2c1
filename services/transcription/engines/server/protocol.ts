import type { Language } from '@call-analysis/events';
import type { ServerAnswer } from './answer.ts';

/** The request for one segment. */
export interface Question {
  /** A WAV file. */
  readonly file: Blob;
  /** The language to send; null lets the server detect it. */
  readonly hint: Language | null;
  readonly temperature: number;
  /** Whether to ask for segments with times, which some servers refuse. */
  readonly wantsSegments: boolean;
}

/** How servers of one kind are asked, and how their answers are read. */
export interface Protocol {
  /** Whether another answer can be had at a higher temperature. */
  readonly hasTemperature: boolean;
  request(question: Question): {
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: FormData | Blob;
  };
  /** Null when the body is not a transcription. */
  read(body: string): ServerAnswer | null;
}

export interface ServerAddress {
  /**
   * The root URL of the server, the URL of its API, or the complete URL. Query parameters are sent with every request.
   */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
}
