/** In words, after Landis and Koch (1977). */
export type Strength = 'none' | 'slight' | 'fair' | 'moderate' | 'substantial' | 'almost';

const STEPS: readonly (readonly [below: number, Strength])[] = [
  [0, 'none'],
  [0.2, 'slight'],
  [0.4, 'fair'],
  [0.6, 'moderate'],
  [0.8, 'substantial'],
];

export function strengthOf(kappa: number): Strength {
  return STEPS.find(([upTo]) => kappa <= upTo)?.[1] ?? 'almost';
}
