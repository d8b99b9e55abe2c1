/** The segment types that a firm needs for everything under `samples/`. */
export const sampleSegmentTypes = ['support', 'sales', 'billing', 'delivery'];
