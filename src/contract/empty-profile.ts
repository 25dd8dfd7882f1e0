import { Profile } from './profile.ts'

/** The profile of a user who has given nothing. The build puts the value in place of this module, as it does for `calls`. */
export const emptyProfile = Profile.parse({})
