import type { Child } from 'hono/jsx'

/** A column of a table. */
export interface Column {
  readonly name: string
  /**
   * Figures, set flush right, or those under a long heading; a bar, which wants room; or an address, which wants room where
   * there is little.
   */
  readonly look?: 'figures' | 'score' | 'drawn' | 'broad'
  /** Its heading is read aloud, and not shown. */
  readonly unseen?: true
  /** Its heading sorts the table: where that link leads, and which way the column is sorted now. */
  readonly sorting?: { readonly href: string; readonly now: 'ascending' | 'descending' | undefined }
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
      <thead {...rowgroup} class={columns.some(({ sorting }) => sorting) ? 'sorting' : undefined}>
        <tr {...row}>
          {columns.map((column) => (
            <th {...columnheader} scope="col" class={column.look} aria-sort={column.sorting?.now}>
              {column.sorting ? <a href={column.sorting.href}>{column.name}</a> : null}
              {column.unseen ? <span class="unseen">{column.name}</span> : null}
              {column.sorting || column.unseen ? null : column.name}
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
