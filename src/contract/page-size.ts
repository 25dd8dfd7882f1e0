/** Items on a page, at most. */
export const maximumPageSize = 100
/** Items on a page by default. */
export const defaultPageSize = 20
