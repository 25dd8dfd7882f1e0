/** Item id of the gradebook for the course as a whole. */
export const wholeCourse = '$course'
