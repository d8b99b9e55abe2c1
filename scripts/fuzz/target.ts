import type { Random } from '../../packages/testing/random.ts';

/** Code that gets mutated inputs. */
export interface Target {
  /** Good inputs, and inputs that are refused for one reason. */
  readonly seeds: readonly Buffer[];
  /** Pieces of the format. */
  readonly words: readonly Buffer[];
  /** `accepted` or the code of the refusal. Throws for anything else: that is a finding. */
  run(input: Buffer, random: Random): Promise<string>;
}
