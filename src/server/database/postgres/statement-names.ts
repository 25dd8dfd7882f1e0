const mostNames = 200
const mostCounted = 2000
const usesBeforeName = 3

/**
 * Names repeated statements, so that each connection prepares them once: a text gets its name at its third use.
 * PostgreSQL keeps prepared statements as long as the connection lives, so there are at most 200 names; later texts
 * are parsed each time.
 */
export function statementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  const uses = new Map<string, number>()

  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= mostNames) return known
    const count = (uses.get(text) ?? 0) + 1
    if (count < usesBeforeName) {
      if (uses.size >= mostCounted) uses.clear()
      uses.set(text, count)
      return undefined
    }
    uses.delete(text)
    const name = `learnctl_${names.size}`
    names.set(text, name)
    return name
  }
}
