/** Maximum number of items on a page. */
export const maximumPageSize = 100
/** Default number of items on a page. */
export const defaultPageSize = 20
