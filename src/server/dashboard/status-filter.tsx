/** What can become of a message, in the order in which it happens. */
export const messageStatuses = ['pending', 'delivered', 'failed'] as const

/** The choice of one status of a list, or all of them, as links. */
export function StatusFilter({
  label,
  here,
  parameter = 'status',
  choices,
  nameOf = capitalized,
  chosen,
  anchor,
}: {
  label: string
  /** The address that the links go to, other parameters than this one included. */
  here: string
  parameter?: string
  choices: readonly string[]
  nameOf?: (choice: string) => string
  chosen: string | undefined
  /** The id of what is to be in sight. */
  anchor: string
}) {
  return (
    <nav class="filter" aria-label={label}>
      <ul>
        {[undefined, ...choices].map((choice) => {
          const search = choice === undefined ? '' : `${here.includes('?') ? '&' : '?'}${parameter}=${choice}`
          return (
            <li>
              <a href={`${here}${search}#${anchor}`} aria-current={choice === chosen ? 'true' : undefined}>
                {choice === undefined ? 'All' : nameOf(choice)}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

function capitalized(word: string): string {
  return `${word[0]?.toUpperCase()}${word.slice(1)}`
}
