const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

// C0, DEL and C1 controls, line separators, and the marks that turn the direction of writing around.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** The text with every control character shown instead of obeyed: `\n`, `\x1b`, `\u202e`. */
export function visible(text: string): string {
  return text.replace(controls, (character) => {
    const code = character.charCodeAt(0).toString(16)
    return named[character] ?? (code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code}`)
  })
}
