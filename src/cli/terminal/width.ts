const segmenter = new Intl.Segmenter()
const invisible = /^[\p{Control}\p{Mark}\p{Format}]+$/u
const wide =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u

/** How many columns of a terminal a text takes (Unicode Standard Annex 11). */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) {
    if (invisible.test(segment)) continue
    width += wide.test(segment) || segment.includes('\ufe0f') ? 2 : 1
  }
  return width
}
