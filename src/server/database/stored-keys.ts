import { searchKey, sortKey } from './text-key.ts'

/** The searched attributes of a user. */
interface SearchedUser {
  readonly email: string
  readonly username: string | null
  readonly profile: {
    readonly firstName?: string | null
    readonly lastName?: string | null
    readonly displayName?: string | null
  }
}

/** Returns the column `search_key` of a user: email address, username and names. */
export function userSearchKey({ email, username, profile }: SearchedUser): string {
  const names = [profile.firstName, profile.lastName, profile.displayName].filter(Boolean)
  return searchKey([email, username, names.join(' ')])
}

/** Returns the column `search_key` of a course: title and description. */
export function courseSearchKey({ title, description }: { title: string; description: string }): string {
  return searchKey([title, description])
}

/** Returns the column `title_key` of a course or a lesson. */
export function titleKey({ title }: { title: string }): string {
  return sortKey(title)
}
