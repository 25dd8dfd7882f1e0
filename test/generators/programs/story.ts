/** Result of using an academy through a client; the same for each generator. */
export interface Story {
  /** Version of a course that was created with its title and status alone. */
  readonly version: number
  /** Titles of the courses in two states, which is a list in the query. */
  readonly titles: readonly string[]
  /** Number of courses by `include_total`, a boolean parameter. */
  readonly total: number | undefined
  /** Attributes that an update with the right `If-Match` changed. */
  readonly modified: readonly string[]
  /** Status and code of an update with a version that is not the current one. */
  readonly stale: readonly [status: number, code: string]
  /** Problems of a course without a title, by their pointers. */
  readonly pointers: readonly (string | undefined)[]
  /** Status of recorded progress. */
  readonly progress: string
  /** First line of an export as CSV. */
  readonly columns: string
}
