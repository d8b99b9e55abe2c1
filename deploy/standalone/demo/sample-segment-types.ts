/** What a firm needs to take in everything under `samples/`. */
export const sampleSegmentTypes = ['support', 'sales', 'billing', 'delivery'];
