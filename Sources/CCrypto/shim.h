#pragma once
// What both have is Swift's Glibc's, whichever of the two a compilation meets first: tm, for one.
#pragma clang module import SwiftGlibc
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
