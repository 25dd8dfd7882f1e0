/**
 * Which items of a list a query parameter matches, by fields of the item. The client checks the items of other platforms
 * with it, because they may ignore a parameter.
 *
 * - `choice`: the field is one of a comma-separated list, ignoring case; `choices` are the words of the API, `names` has
 *   other words for them
 * - `equal`: the field, or one item of it, is this text; for an address (`anyCase`) ignoring case
 * - `search`: one of the fields contains this text, ignoring case
 * - `start`, `end`: the field is a time from this day or time on, or up to it; `unlessSet` names a parameter with which
 *   items without a time belong as well
 * - `reference`: the field is the id that is referred to; `ext:` and `email:` may be in fields of the item, too;
 *   `several` for a comma-separated list
 */
export type Filter =
  | {
      readonly by: 'choice'
      readonly field: string
      readonly choices: readonly string[]
      readonly names?: Readonly<Record<string, string>>
    }
  | { readonly by: 'equal'; readonly field: string; readonly anyCase?: true }
  | { readonly by: 'search'; readonly fields: readonly string[] }
  | { readonly by: 'start' | 'end'; readonly field: string; readonly unlessSet?: string }
  | {
      readonly by: 'reference'
      readonly field: string
      /** Kind of record that is referred to, by its path parameter. */
      readonly to: 'courseId' | 'userId'
      readonly ext?: string
      readonly email?: string
      readonly several?: true
    }

/** The filters of a list, by query parameter. */
export type Filters = Readonly<Record<string, Filter>>

/** Returns the filters of `period`; `field` is the main time of the list. */
export function inPeriod(field: string) {
  return { since: { by: 'start', field }, until: { by: 'end', field } } as const satisfies Filters
}

/** The filter of `UpdatedSince`. */
export const updatedSince = { by: 'start', field: 'updatedAt' } as const satisfies Filter
