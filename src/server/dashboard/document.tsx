import { visibleDocument } from '../../codec/hidden-characters.ts'

/** JSON that others wrote, a member a line; what is no JSON, as it is. */
export function Document({ text }: { text: string }) {
  return (
    <pre class="code" tabindex={0}>
      {visibleDocument(indented(text))}
    </pre>
  )
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}
