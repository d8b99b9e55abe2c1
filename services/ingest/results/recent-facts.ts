import type { AnalysisFacts } from './analysis-facts.ts';

/** Some 2 KB each. */
const MOST = 5_000;

interface RecentAnalysis {
  readonly uuid: string;
  readonly facts: AnalysisFacts | null;
}

/**
 * The facts of analyses that this process has stored and has not indexed yet. They save the indexer from reading and parsing
 * the analyses again, which takes 80 µs a call. Beyond the newest 5,000 it reads them.
 */
export class RecentFacts {
  readonly #byCall = new Map<string, RecentAnalysis>();

  add(callUuid: string, analysis: RecentAnalysis): void {
    this.#byCall.delete(callUuid);
    this.#byCall.set(callUuid, analysis);
    for (const oldest of this.#byCall.keys()) {
      if (this.#byCall.size <= MOST) return;
      this.#byCall.delete(oldest);
    }
  }

  /** Returns and forgets the newest analysis of the call. Its transaction may have been rolled back. */
  take(callUuid: string): RecentAnalysis | undefined {
    const analysis = this.#byCall.get(callUuid);
    this.#byCall.delete(callUuid);
    return analysis;
  }
}
