const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const space = /[ \t\r\n]*/y

/**
 * Returns the index where text stops being JSON (RFC 8259), since the engine's own message often omits it; the length
 * of the text if only its end is missing.
 */
export function jsonFaultAt(text: string): number {
  let at = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at = pattern.lastIndex
    return found !== null
  }
  const mark = (character: string) => {
    take(space)
    if (text[at] !== character) return false
    at += 1
    return true
  }
  const member = () => {
    take(space)
    return take(string) && mark(':') && value()
  }
  const items = (end: string, item: () => boolean) => {
    if (mark(end)) return true
    while (item()) {
      if (mark(end)) return true
      if (!mark(',')) return false
    }
    return false
  }
  function value(): boolean {
    if (mark('{')) return items('}', member)
    if (mark('[')) return items(']', value)
    return take(string) || take(scalar)
  }
  value()
  take(space)
  return at
}
