interface JsonFault {
  /** From 0, in UTF-16 code units; the length of the text if that ends too early. */
  readonly offset: number
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 code units. */
  readonly column: number
}

type Next = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end' | 'nothing'

const space = /[ \t\n\r]*/y
const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const escaped = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y

/**
 * Finds the place where a text that is not JSON (RFC 8259) goes wrong. A parser's own message quotes the
 * text, which may hold a secret.
 */
export function jsonFaultIn(text: string): JsonFault {
  const offset = offsetIn(text)
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { offset, line: before.split('\n').length, column: offset - lineStart + 1 }
}

function offsetIn(text: string): number {
  const open: ('{' | '[')[] = []
  let next: Next = 'value'
  let at = after(space, text, 0)
  const following = (): Next => (open.length > 0 ? ', or end' : 'nothing')
  for (; at < text.length; at = after(space, text, at)) {
    const character = text[at]
    const inside = open.at(-1)
    const mayName: boolean = next === 'name' || next === 'name or }'
    if (next === 'nothing') return at
    if (next === ':') {
      if (character !== ':') return at
      next = 'value'
    } else if (next === ', or end') {
      if (character === (inside === '{' ? '}' : ']')) {
        open.pop()
        next = following()
      } else if (character === ',') next = inside === '{' ? 'name' : 'value'
      else return at
    } else if ((next === 'name or }' && character === '}') || (next === 'value or ]' && character === ']')) {
      open.pop()
      next = following()
    } else if (character === '"') {
      const end = endOfString(text, at + 1)
      if (!end.isWhole) return end.at
      at = end.at
      next = mayName ? ':' : following()
      continue
    } else if (mayName) return at
    else if (character === '{' || character === '[') {
      open.push(character)
      next = character === '{' ? 'name or }' : 'value or ]'
    } else {
      const end = after(literal, text, at)
      if (end === at) return at
      at = end
      next = following()
      continue
    }
    at += 1
  }
  return text.length
}

/** Returns `at` without a match. */
function after(pattern: RegExp, text: string, at: number): number {
  // Most tokens follow without a space.
  if (pattern === space && text.charCodeAt(at) > 0x20) return at
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** `at` is the end, or the place where the string goes wrong. */
function endOfString(text: string, from: number): { readonly at: number; readonly isWhole: boolean } {
  for (let at = from; at < text.length; at += 1) {
    const character = text[at] as string
    if (character === '"') return { at: at + 1, isWhole: true }
    if (character < ' ') return { at, isWhole: false }
    if (character !== '\\') continue
    const end = after(escaped, text, at)
    if (end === at) return { at, isWhole: false }
    at = end - 1
  }
  return { at: text.length, isWhole: false }
}
