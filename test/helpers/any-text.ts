import fc from 'fast-check'

/**
 * Texts of any code points, halves of pairs among them. The unit of fast-check that is called binary takes a second to
 * make.
 */
export const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
})
