/* A grey image: 8-bit uncompressed TGA, or PGM (8 or 16 bits) */
#pragma once

#include <petscsys.h>

typedef struct {
  PetscInt width, height;
  PetscReal* grey; /* from 0 (black) to 1 (white); the row at the bottom first */
} GreyImage;

PetscErrorCode GreyImageRead(const char path[], GreyImage* image);
/* The image at texture coordinates from 0 to 1, (0, 0) at the bottom left, between the pixels next to there */
PetscReal GreyImageSample(const GreyImage* image, PetscReal u, PetscReal v);
PetscErrorCode GreyImageDestroy(GreyImage* image);
