import type { Child } from 'hono/jsx'

/** A column of a table. */
export interface Column {
  readonly name: string
  /** Figures, set flush right; a bar, which wants room; or an address, which wants room where there is little. */
  readonly look?: 'figures' | 'drawn' | 'broad'
  /** Its heading is read aloud, and not shown. */
  readonly unseen?: true
}

// On a narrow screen each row is a block of its own, and what is no table to CSS is none to some screen readers.
const [table, rowgroup, row, columnheader, rowheader, cell] = [
  'table',
  'rowgroup',
  'row',
  'columnheader',
  'rowheader',
  'cell',
].map((role) => ({ role }))

/** A table whose rows are named by their first cell. */
export function Table({
  caption,
  columns,
  rows,
}: {
  caption: string
  columns: readonly Column[]
  rows: readonly (readonly Child[])[]
}) {
  return (
    <table {...table}>
      <caption>{caption}</caption>
      <thead {...rowgroup}>
        <tr {...row}>
          {columns.map(({ name, unseen, look }) => (
            <th {...columnheader} scope="col" class={look}>
              {unseen ? <span class="unseen">{name}</span> : name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...rowgroup}>
        {rows.map((cells) => (
          <tr {...row}>
            {cells.map((content, index) => {
              const { name = '', unseen, look } = columns[index] ?? {}
              if (index === 0) {
                return (
                  <th {...rowheader} scope="row">
                    {content}
                  </th>
                )
              }
              return (
                <td {...cell} class={look} data-column={unseen ? undefined : name}>
                  {content}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
