import { Profile } from './users.ts'

/** The profile of a new user. The build replaces this module by its value, as for `calls`. */
export const emptyProfile = Profile.parse({})
