import { searchKey, sortKey } from './text-key.ts'

/** What of a user is searched. */
interface SearchedUser {
  readonly email: string
  readonly username: string | null
  readonly profile: {
    readonly firstName?: string | null
    readonly lastName?: string | null
    readonly displayName?: string | null
  }
}

/** The column `search_key` of a user: e-mail address, username and names. */
export function userSearchKey({ email, username, profile }: SearchedUser): string {
  const names = [profile.firstName, profile.lastName, profile.displayName].filter(Boolean)
  return searchKey([email, username, names.join(' ')])
}

/** The column `search_key` of a course: title and description. */
export function courseSearchKey({ title, description }: { title: string; description: string }): string {
  return searchKey([title, description])
}

/** The column `title_key` of a course or a lesson. */
export function titleKey({ title }: { title: string }): string {
  return sortKey(title)
}
